# How a job ends, with which status and with which words.
_ddpkit_test_program(exit_paths SOURCES mpi/exit_paths/exit_paths.cpp LIBRARIES ddpkit::core)

function(_exit_path case ranks status)
  set(_texts)
  foreach(_text IN LISTS ARGN)
    list(APPEND _texts --text ${_text})
  endforeach()
  add_test(NAME mpi.exit.${case}
    COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/support/expect.py" --status ${status} ${_texts} --
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:exit_paths> ${case})
  set_tests_properties(mpi.exit.${case} PROPERTIES TIMEOUT 30 LABELS mpi PROCESSORS ${ranks}
    ENVIRONMENT "${DDPKIT_MPIEXEC_ENVIRONMENT}")
endfunction()

_exit_path(normal 3 0)
_exit_path(never_used 3 0)
_exit_path(early_return 3 0)
_exit_path(exception_on_one_rank 3 78 "rank 1 read another file")
_exit_path(exception_while_in_flight 3 65 "rank 1 cannot go on")
_exit_path(exception_on_all_ranks 3 78 "no such option")
_exit_path(abort_from_one_rank 3 74 "[rank 1/3] abort with status 74: disk is full")
_exit_path(abort_while_stuck 3 65 "rank 0 gives up")
_exit_path(abort_without_status 2 70)
_exit_path(one_rank_does_not_come 3 124
  "all_reduce of 1000 float32 (sum)" "4000 bytes" "bucket 4, fc2.weight" "rank 2 has not come" "later calls are refused")
_exit_path(one_rank_is_in_another_communicator 2 124 "rank 1 has not come")
_exit_path(one_rank_calls_something_else 3 76 "broadcast of 1000 float32 from rank 0" "all_reduce of 1000 float32 (sum)")
_exit_path(one_rank_ends_early 3 76 "rank 1 issued end of the communicator")
_exit_path(one_rank_stops_inside_a_reduction_in_place 3 124
  "all_reduce of 100000 float32 (sum)" "bucket 4, fc2.weight" "rank 2 has come, but not finished")
_exit_path(one_rank_is_killed_inside_a_reduction_in_place 3 137)
_exit_path(one_rank_passes_memory_of_its_own 3 76 "all ranks pass memory of one allocation, or none does")
_exit_path(one_rank_passes_another_allocation 3 76 "allocation 2" "all ranks pass memory of one allocation, or none does")
_exit_path(one_rank_allocates_less 3 76 "allocate of 1000")
_exit_path(one_rank_reduces_otherwise 3 76 "rank 1 issued all_reduce of 100000 float32 (max)")

# Set for a run that says nothing about it; what the user says stays.
foreach(_said "" 0)
  set(_expected 1)
  if(NOT _said STREQUAL "")
    set(_expected ${_said})
  endif()
  add_test(NAME mpi.exit.settings_of_open_mpi_${_expected}
    COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/support/expect.py" --status 0 --text "yields when idle: ${_expected}" --
      ${CMAKE_COMMAND} -E env --unset=OMPI_MCA_mpi_yield_when_idle $<$<NOT:$<STREQUAL:${_said},>>:OMPI_MCA_mpi_yield_when_idle=${_said}>
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:exit_paths> settings_of_open_mpi
    COMMAND_EXPAND_LISTS)
  set_tests_properties(mpi.exit.settings_of_open_mpi_${_expected} PROPERTIES TIMEOUT 30 LABELS mpi PROCESSORS 2
    ENVIRONMENT "${DDPKIT_MPIEXEC_ENVIRONMENT}")
endforeach()

# A launcher of two ranks that this program's MPI does not know.
add_test(NAME mpi.exit.two_mpi_libraries
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/support/expect.py" --status 78 --text "another MPI" -- $<TARGET_FILE:exit_paths> normal)
set_tests_properties(mpi.exit.two_mpi_libraries PROPERTIES TIMEOUT 30 LABELS mpi
  ENVIRONMENT "PMI_RANK=0;PMI_SIZE=2;${DDPKIT_MPIEXEC_ENVIRONMENT}")

# Variables of another launcher, on every rank: one line of warning, for the job and not for each rank.
add_test(NAME mpi.exit.stray_variables
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/support/expect.py" --status 0 --once "ignoring RANK=7, WORLD_SIZE=9" --
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:exit_paths> normal)
set_tests_properties(mpi.exit.stray_variables PROPERTIES TIMEOUT 30 LABELS mpi PROCESSORS 3
  ENVIRONMENT "RANK=7;WORLD_SIZE=9;${DDPKIT_MPIEXEC_ENVIRONMENT}")
