// SPDX-License-Identifier: BSD-3-Clause
// What other programs read from the profiles of a run, against its report.json: CMetric of each function, in itself
// and with all that it calls.
// usage: node imported_profiles.cjs PACKAGES REPORT PROFILE speedscope|pprof-format
// PACKAGES: a node_modules with speedscope and pprof-format.  Exit 0 with a line of figures, or 1 with one per fault.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");
const zlib = require("zlib");

const TOLERANCE_S = 1e-6; // collapsed stacks have whole microseconds, a function some of them

function add(functions, name, self, total) {
	const row = functions.get(name) || { self: 0, total: 0 };
	row.self += self;
	row.total += total;
	functions.set(name, row);
}

// A function counts once in a stack, however often it is there.
function addStack(functions, names, weight) {
	names.forEach((name, at) => {
		add(functions, name, at === names.length - 1 ? weight : 0, names.indexOf(name) === at ? weight : 0);
	});
}

const ENDS = { not_captured: "[not captured]", cut_memory: "[cut: memory]", cut_no_cfi: "[cut: no CFI]",
	cut_maps: "[cut: maps unknown]" };

function nameOf(row) {
	if (row.kind === "not_sampled") return "[not sampled]";
	if (row.function) return row.function;
	if (!row.module) return "[in no known file]";
	const begin = row.function_begin ? `+${row.function_begin}` : "";
	return row.module[0] === "[" ? row.module : `[${path.basename(row.module)}${begin}]`;
}

function ofReport(report) {
	const functions = new Map();
	const hasPaths = report.path_ends.some((x) => x.end !== "not_captured");
	for (const row of report.paths) {
		const names = [];
		let at = row;
		for (; ; at = report.paths[at.parent]) {
			names.unshift(nameOf(at));
			if (at.parent === null) break;
		}
		if (hasPaths && ENDS[at.end] && row.kind !== "not_sampled") names.unshift(ENDS[at.end]);
		addStack(functions, names, row.self_cmetric_s);
	}
	return functions;
}

// Something that has all members, which do nothing: what the program draws on.
function nothing() {
	const absent = ["dcodeIO", "Long", "process", "then"];
	const it = new Proxy(function () {}, {
		get: (_, key) => key === Symbol.toPrimitive ? () => "" : absent.includes(key) ? undefined : it,
		set: () => true, construct: () => it, apply: () => it });
	return it;
}

// speedscope's own importer, which its package has only within the program for browsers.
function importerOf(packages) {
	const folder = path.join(packages, "speedscope/dist/release");
	const file = path.join(folder, fs.readdirSync(folder).find((x) => /^speedscope-.*\.js$/.test(x)));
	const code = fs.readFileSync(file, "utf8");
	const name = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)/.exec(code)[3];
	const page = nothing();
	Object.assign(globalThis, { window: page, document: page, location: page, localStorage: page,
		requestAnimationFrame: () => 0 });
	console.log = () => {};
	try {
		vm.runInThisContext(code.replace("(()=>{", `(()=>{globalThis.imported=(...a)=>${name}(...a);`));
	} catch (error) {
		// it cannot draw; the importer is there by then
	}
	return globalThis.imported;
}

async function ofSpeedscope(packages, file) {
	const group = await importerOf(packages)(path.basename(file), fs.readFileSync(file).toString("base64"));
	const profile = group.profiles[0];
	const unit = { seconds: 1, nanoseconds: 1e-9, none: 1e-6 }[profile.getWeightUnit()];
	const functions = new Map();
	if (group.profiles.length !== 1) throw new Error(`${group.profiles.length} profiles`);
	profile.forEachFrame((x) => add(functions, x.name, x.getSelfWeight() * unit, x.getTotalWeight() * unit));
	return functions;
}

function ofPprof(packages, file) {
	const { Profile } = require(path.join(packages, "pprof-format"));
	const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
	const text = (index) => profile.stringTable.strings[Number(index)];
	const byId = (rows) => new Map(rows.map((x) => [Number(x.id), x]));
	const locations = byId(profile.location);
	const names = byId(profile.function);
	const functions = new Map();
	const at = profile.sampleType.findIndex((x) => text(x.type) === "cmetric" && text(x.unit) === "nanoseconds");
	for (const sample of profile.sample) {
		const stack = [];
		for (const id of sample.locationId)
			for (const line of locations.get(Number(id)).line)
				stack.unshift(text(names.get(Number(line.functionId)).name));
		addStack(functions, stack, Number(sample.value[at]) * 1e-9);
	}
	return functions;
}

async function main([packages, reportFile, file, reader]) {
	const report = JSON.parse(fs.readFileSync(reportFile, "utf8"));
	const wanted = ofReport(report);
	const print = console.log;
	const told = reader === "speedscope" ? await ofSpeedscope(packages, file) : ofPprof(packages, file);
	const faults = [];
	for (const name of new Set([...wanted.keys(), ...told.keys()])) {
		const [want, is] = [wanted, told].map((x) => x.get(name) || { self: 0, total: 0 });
		for (const key of ["self", "total"])
			if (!(Math.abs(want[key] - is[key]) <= TOLERANCE_S * wanted.size))
				faults.push(`${name}: ${key} ${is[key]} s, reported ${want[key]} s`);
	}
	if (report.paths.length >= 1000) faults.push("the report has not all paths");
	const sum = [...told.values()].reduce((all, x) => all + x.self, 0);
	print(faults.length ? faults.slice(0, 5).join("\n") : `${told.size} functions, ${sum.toFixed(6)} s`);
	process.exitCode = faults.length ? 1 : 0;
}

main(process.argv.slice(2)).catch((error) => {
	process.stderr.write(`imported_profiles: ${error.message}\n`);
	process.exitCode = 1;
});
