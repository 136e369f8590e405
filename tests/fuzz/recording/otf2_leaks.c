// SPDX-License-Identifier: BSD-3-Clause
// What LeakSanitizer does not tell of: libotf2 does not free what it read of an anchor that it then
// refuses; and after an error of its own the writer leaves it alone (otf2/archive/archive_files.c).
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}
