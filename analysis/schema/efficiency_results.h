/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors of efficiency, and what they are made from (docs/metric.md). */
#ifndef CRIT_EFFICIENCY_RESULTS_H
#define CRIT_EFFICIENCY_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

struct crit_efficiency {
	bool is_valid; /* false: no rank or thread lived inside the window; all factors 0 */
	bool has_omp; /* threads waited or idled in OpenMP: its factors say something */
	/* CPU-time: parallel = omp_parallel x balance x oversubscription x io x communication */
	double cpu_parallel;
	double cpu_omp_parallel; /* = scheduling x balance x serialization */
	double cpu_omp_scheduling;
	double cpu_omp_balance;
	double cpu_omp_serialization;
	double cpu_balance; /* = balance_in x balance_out */
	double cpu_balance_in; /* within nodes */
	double cpu_balance_out; /* between nodes */
	double cpu_oversubscription;
	double cpu_io;
	double cpu_communication;
	double cpus; /* P: CPUs that the threads of ranks could keep busy */
	/* what threads idle inside ranks, outside MPI: ns, sums over threads */
	double omp_scheduling_ns;
	double omp_imbalance_ns;
	double omp_serial_ns;
	/* wall-clock: mpi_parallel = balance x communication */
	double wall_parallel;
	double wall_mpi_parallel;
	double wall_balance; /* = balance_in x balance_out */
	double wall_balance_in;
	double wall_balance_out;
	double wall_communication;
	double wall_omp_parallel; /* = serialization x balance x scheduling */
	double wall_omp_serialization;
	double wall_omp_balance;
	double wall_omp_scheduling;
};

/* What one set of cells says: U, R, B of the CPU-time factors and M of the wall-clock ones. */
struct crit_usage {
	uint64_t life_ns;
	uint64_t useful_ns; /* U: running outside MPI and waits */
	uint64_t runnable_ns; /* R: wanting a CPU, outside waits */
	uint64_t blocked_ns; /* B: blocked outside MPI and waits of OpenMP */
	uint64_t mpi_ns; /* M: inside MPI, whatever the kernel state */
	uint64_t mpi_wait_ns; /* of these, in classes that wait (mpi_wait, mpi_poll) */
	uint64_t mpi_may_wait_ns;
	uint64_t omp_wait_ns; /* omp_wait and omp_idle */
	uint64_t setup_ns;
};

#endif
