// SPDX-License-Identifier: BSD-3-Clause
// Walks the paths of all tables, and gives each object its columns as properties.
#include "tests/unit/report/report_schema.h"

#include <stdio.h>
#include <string.h>

#include "report/formats/columns.h"

#define NAME_BYTES 64

static json_t *member(json_t *object, const char *key, json_t *otherwise)
{
	json_t *there = json_object_get(object, key);

	if (there)
		json_decref(otherwise);
	else
		(void)json_object_set_new(object, key, otherwise);
	return json_object_get(object, key);
}

static json_t *property(json_t *object, const char *name)
{
	return member(member(object, "properties", json_object()), name, json_object());
}

static void make_object(json_t *schema)
{
	(void)member(schema, "type", json_string("object"));
	(void)member(schema, "additionalProperties", json_false());
	(void)member(schema, "properties", json_object());
	(void)member(schema, "required", json_array());
}

static void require(json_t *schema, const char *key)
{
	json_t *required = member(schema, "required", json_array());
	json_t *name;
	size_t i;

	json_array_foreach(required, i, name)
	{
		if (strcmp(json_string_value(name), key) == 0)
			return;
	}
	(void)json_array_append_new(required, json_string(key));
}

/* A member of the whole that may be absent. */
static bool is_optional(const char *key)
{
	size_t count;
	const struct crit_column *columns = crit_columns(&count);

	for (size_t i = 0; i < count; i++)
		if (columns[i].table == CRIT_TABLE_REPORT && columns[i].where == CRIT_IN_SOME &&
		    strcmp(columns[i].key, key) == 0)
			return true;
	return false;
}

/* The object of one path: "ranks[]", "job.scheduler", or "report.json" for the whole. */
static json_t *object_at(json_t *root, const char *path, size_t length)
{
	json_t *at = root;

	if (length == strlen("report.json") && memcmp(path, "report.json", length) == 0)
		return root;
	while (length) {
		const size_t part = strcspn(path, ".,") < length ? strcspn(path, ".,") : length;
		const bool is_array = part > 2 && memcmp(path + part - 2, "[]", 2) == 0;
		char name[NAME_BYTES];

		(void)snprintf(name, sizeof(name), "%.*s", (int)(is_array ? part - 2 : part), path);
		if (at == root && !is_optional(name))
			require(root, name);
		at = property(at, name);
		if (is_array) {
			(void)member(at, "type", json_string("array"));
			at = member(at, "items", json_object());
		}
		make_object(at);
		path += part + (part < length);
		length -= part + (part < length);
	}
	return at;
}

static const char *type_of(enum crit_kind kind)
{
	switch (kind) {
	case CRIT_KIND_COUNT:
	case CRIT_KIND_NUMBER:
	case CRIT_KIND_RANK:
		return "integer";
	case CRIT_KIND_BOOL:
		return "boolean";
	case CRIT_KIND_WORD:
	case CRIT_KIND_TEXT:
	case CRIT_KIND_FIELD:
		return "string";
	default:
		return "number";
	}
}

/* Lists and objects that are no tables. */
static void describe_other(json_t *schema, const char *key)
{
	if (strcmp(key, "paths_unlisted") == 0) {
		(void)member(schema, "type", json_string("integer"));
	} else if (strcmp(key, "calls_off") == 0) {
		(void)member(schema, "type", json_string("array"));
		(void)member(schema, "items", json_pack("{s:s}", "type", "string"));
	} else if (strcmp(key, "cells") == 0) {
		(void)member(schema, "type", json_string("object"));
		(void)member(schema, "additionalProperties", json_pack("{s:s}", "type", "number"));
	}
}

static void add_column(json_t *object, const struct crit_column *column)
{
	const bool is_null = column->kind == CRIT_KIND_RANK || strstr(column->doc, "null");
	json_t *schema = property(object, column->key);

	if (column->kind == CRIT_KIND_JSON)
		describe_other(schema, column->key);
	else
		(void)json_object_set_new(schema, "type", json_string(type_of(column->kind)));
	if (is_null)
		(void)json_object_set_new(schema, "type",
					  json_pack("[O, s]", json_object_get(schema, "type"),
						    "null"));
	(void)json_object_set_new(schema, "description", json_string(column->doc));
	if (column->where != CRIT_IN_SOME)
		require(object, column->key);
}

static void add_table(json_t *root, enum crit_table table)
{
	const char *path = crit_table_heads[table].path;
	size_t count;
	const struct crit_column *columns = crit_columns(&count);

	while (*path) {
		const size_t length = strcspn(path, ",");
		json_t *object = object_at(root, path, length);

		for (size_t i = 0; i < count; i++)
			if (columns[i].table == table && columns[i].where & CRIT_IN_JSON)
				add_column(object, &columns[i]);
		path += length;
		path += strspn(path, ", ");
	}
}

json_t *report_schema(void)
{
	json_t *root = json_object();

	(void)member(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	(void)member(root, "title", json_string("report.json of crit, schema crit-report/2"));
	make_object(root);
	/* those inside others last: a column may say that its table can be null */
	for (size_t depth = 8; depth--;)
		for (int table = 0; table < CRIT_TABLE_COUNT; table++) {
			const char *path = crit_table_heads[table].path;
			size_t dots = 0;

			for (size_t i = 0; i < strcspn(path, ","); i++)
				dots += path[i] == '.';
			if (dots == depth)
				add_table(root, (enum crit_table)table);
		}
	return root;
}

static bool is_type(const char *type, const json_t *value)
{
	return (strcmp(type, "object") == 0 && json_is_object(value)) ||
	       (strcmp(type, "array") == 0 && json_is_array(value)) ||
	       (strcmp(type, "string") == 0 && json_is_string(value)) ||
	       (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
	       (strcmp(type, "number") == 0 && json_is_number(value)) ||
	       (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
	       (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool has_type(const json_t *type, const json_t *value)
{
	bool has = json_is_string(type) && is_type(json_string_value(type), value);

	for (size_t i = 0; i < json_array_size(type); i++)
		has |= is_type(json_string_value(json_array_get(type, i)), value);
	return has;
}

/* True: refused, and text says where and why behind what it says already. */
static bool refuse(char *text, size_t text_bytes, const char *why, const char *what)
{
	const size_t used = strlen(text);

	(void)snprintf(text + used, text_bytes - used, ": %s%s", why, what);
	return true;
}

static bool refuses(const json_t *schema, const json_t *value, char *text, size_t text_bytes);

static bool refuses_members(const json_t *schema, const json_t *value, char *text,
			    size_t text_bytes)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties");
	const size_t used = strlen(text);
	const char *key;
	json_t *at;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, at)
	{
		if (!json_object_get(value, json_string_value(at)))
			return refuse(text, text_bytes, "lacks ", json_string_value(at));
	}
	json_object_foreach((json_t *)value, key, at)
	{
		const json_t *of_key = json_object_get(properties, key);

		if (!of_key && json_is_false(others))
			return refuse(text, text_bytes, "has ", key);
		(void)snprintf(text + used, text_bytes - used, ".%s", key);
		if (refuses(of_key ? of_key : others, at, text, text_bytes))
			return true;
		text[used] = '\0';
	}
	return false;
}

static bool refuses(const json_t *schema, const json_t *value, char *text, size_t text_bytes)
{
	const size_t used = strlen(text);
	json_t *at;
	size_t i;

	if (!json_object_get(schema, "type")) /* the schema says nothing of it */
		return false;
	if (!has_type(json_object_get(schema, "type"), value))
		return refuse(text, text_bytes, "its type", "");
	json_array_foreach(value, i, at)
	{
		(void)snprintf(text + used, text_bytes - used, "[%zu]", i);
		if (refuses(json_object_get(schema, "items"), at, text, text_bytes))
			return true;
		text[used] = '\0';
	}
	return json_is_object(value) && refuses_members(schema, value, text, text_bytes);
}

const char *report_schema_refuses(const json_t *schema, const json_t *value, char *text,
				  size_t text_bytes)
{
	text[0] = '\0';
	(void)refuses(schema, value, text, text_bytes);
	return text;
}
