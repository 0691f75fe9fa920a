#!/bin/sh
# Stands in for mpirun: runs its program once and tells it the number of ranks that were asked for.
while [ $# -gt 0 ]; do
  case $1 in
    -np) FAKE_RANKS=$2; export FAKE_RANKS; shift 2 ;;
    --fail-slots) echo "There are not enough slots available in the system" >&2; exit 1 ;;
    --fail-root) echo "mpirun has detected an attempt to run as root." >&2; exit 1 ;;
    -*) shift ;;
    *) exec "$@" ;;
  esac
done
