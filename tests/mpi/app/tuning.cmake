# The verbs probe and tune as a person starts them.
add_test(NAME mpi.app.tuning
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/mpi/app/tuning_test.py" $<TARGET_FILE:trial_program>
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
set_tests_properties(mpi.app.tuning PROPERTIES TIMEOUT 240 LABELS mpi PROCESSORS 2
  ENVIRONMENT "OMP_NUM_THREADS=1;${DDPKIT_MPIEXEC_ENVIRONMENT}")
