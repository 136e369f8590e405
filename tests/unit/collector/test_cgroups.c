// SPDX-License-Identifier: BSD-3-Clause
// Which hierarchy of cgroups limits CPU time, where a process stands in it, and what quotas mean.
// The lines are from this machine (version 1 and 2 side by side), RHEL 8 and systemd 252.
#include "collector/member/cgroups.h"
#include "tests/lib/check.h"

static const struct {
	const char *line;
	bool is_mount, is_v1;
	const char *root, *mount;
} mounts[] = {
	{ "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n", true, true, "",
	  "/sys/fs/cgroup/cpu" },
	{ "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n", false, false, "",
	  "" },
	{ "34 31 0:31 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n", false,
	  false, "", "" },
	{ "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:12 - cgroup cgroup "
	  "rw,seclabel,cpu,cpuacct\n",
	  true, true, "", "/sys/fs/cgroup/cpu,cpuacct" },
	{ "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", true,
	  false, "", "/sys/fs/cgroup" },
	{ "820 811 0:26 /docker/77 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n", true, false,
	  "/docker/77", "/sys/fs/cgroup" },
	{ "23 28 0:22 / /proc rw,nosuid shared:13 - proc proc rw\n", false, false, "", "" },
	{ "no mount at all\n", false, false, "", "" },
	{ " - cgroup2 \n", true, false, "", "" },
};

static void test_mounts(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		char root[CRIT_CGROUP_PATH_BYTES] = "", mount[CRIT_CGROUP_PATH_BYTES] = "";
		bool is_v1 = false;

		CHECK_INT_EQ(crit_cgroups_is_mount(mounts[i].line, &is_v1, root, mount),
			     mounts[i].is_mount);
		if (!mounts[i].is_mount || mounts[i].line[0] == ' ')
			continue;
		CHECK_INT_EQ(is_v1, mounts[i].is_v1);
		CHECK_STR_EQ(root, mounts[i].root);
		CHECK_STR_EQ(mount, mounts[i].mount);
	}
}

#define BOTH "9:name=systemd:/\n8:pids:/p\n3:cpuset:/s\n2:cpuacct:/a\n1:cpu:/job/4\n0::/u:x\n"

static const struct {
	const char *text;
	bool is_v1;
	const char *path; /* NULL none */
} paths[] = {
	{ BOTH, true, "/job/4" },
	{ BOTH, false, "/u:x" },
	{ "4:cpu,cpuacct:/slurm/uid_1/job_2\n", true, "/slurm/uid_1/job_2" },
	{ "4:cpuacct,cpu:/\n", true, "/" },
	{ "4:cpuset:/x\n", true, NULL },
	{ "4:cpu:/cut off", true, NULL },
	{ "0::/../../other\n", false, NULL },
	{ "0::\n", false, NULL },
	{ "0\n\n:\n", false, NULL },
	{ "", false, NULL },
};

static void test_paths(void)
{
	char text[CRIT_CGROUP_PATH_BYTES + 16];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char path[CRIT_CGROUP_PATH_BYTES] = "";
		const bool has_path = crit_cgroups_path(paths[i].text, paths[i].is_v1, path);

		CHECK_INT_EQ(has_path, paths[i].path != NULL);
		if (has_path && paths[i].path)
			CHECK_STR_EQ(path, paths[i].path);
	}
	memset(text, '/', sizeof(text));
	memcpy(text, "0::", 3);
	memcpy(text + sizeof(text) - 2, "\n", 2);
	CHECK(!crit_cgroups_path(text, false, (char[CRIT_CGROUP_PATH_BYTES]){ "" }));
}

static void test_quotas(void)
{
	static const struct {
		const char *quota, *period;
		__u64 millionths;
	} cases[] = {
		{ "50000 100000\n", "100000\n", 500000 },
		{ "max 100000\n", "100000\n", CRIT_CPU_UNLIMITED },
		{ "-1\n", "100000\n", CRIT_CPU_UNLIMITED },
		{ "400000\n", "100000\n", 4000000 },
		{ "1000\n", "300000\n", 3333 },
		{ "1000\n", "0\n", CRIT_CPU_UNLIMITED },
		{ "", "", CRIT_CPU_UNLIMITED },
		{ "18446744073709551615\n", "1\n", CRIT_CPU_UNLIMITED },
		{ "18446744073709551615\n", "4294967295\n", CRIT_CPU_UNLIMITED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_UINT_EQ(crit_cgroups_quota(cases[i].quota, cases[i].period),
			      cases[i].millionths);
}

int main(void)
{
	test_mounts();
	test_paths();
	test_quotas();
	return check_done();
}
