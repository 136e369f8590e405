#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A batch job under crit: every srun of it leaves a directory with its report.  Options of sbatch as you need them.
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:10:00
# On these nodes we want root's collector, which sees all of the kernel's half; srun --crit asks for it, too.
#SBATCH --comment=crit

module load crit

# The plug-in is there: an option.  With --crit for sbatch itself, all of the script is under crit.
srun --crit="crit-%e-%j.%s" ./solver

# It is not: a variable, or the task prolog (CRIT_TASKS=1).
# shellcheck disable=SC2046
srun $(crit env --mpi=slurm) ./solver

# mpirun starts the ranks itself.
# shellcheck disable=SC2046
mpirun $(crit env) ./solver

# In a program that uses neither MPI nor OpenMP crit records threads, node by node.
srun crit run -- ./server

# A large run: its archive is left to several processes of the same allocation, which write the report anew as well.
CRIT_OTF2=0 srun --crit="crit-large-%j.%s" ./solver
mpirun -n "$SLURM_NNODES" crit-merge crit-large-"$SLURM_JOB_ID".*
