// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI that loads one with it.  usage: plugin_host PLUGIN
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(void) = NULL;

	if (plugin)
		*(void **)&run = dlsym(plugin, "plugin_run");
	if (!run) {
		fprintf(stderr, "plugin_host: %s\n", argc == 2 ? dlerror() : "which plug-in?");
		return 2;
	}
	printf("sum %d\n", run());
	return 0;
}
