# Install rules, the CMake package and the pkg-config file. An installed tree may be moved.
include(CMakePackageConfigHelpers)

set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ddpkit")
set(_libraries ddpkit_core ddpkit_testing ddpkit_train)
set(_cuda)
if(TARGET ddpkit_cuda)
  set(_cuda ddpkit_cuda)
endif()
set(_programs)
if(TARGET ddpkit_tool)
  set(_programs ddpkit_tool)
endif()

# $ORIGIN finds our own libraries wherever the tree lies; the link path adds LibTorch's folder, which stays where it is.
set_target_properties(${_libraries} ${_cuda} ${_programs} PROPERTIES
  INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${_libraries} ddpkit_ddpkit EXPORT ddpkitTargets FILE_SET HEADERS FILE_SET mpi_headers)
if(_cuda)  # a set of its own, which the configuration leaves out on a machine without a CUDA toolkit
  install(TARGETS ${_cuda} EXPORT ddpkitCudaTargets FILE_SET HEADERS)
  install(EXPORT ddpkitCudaTargets NAMESPACE ddpkit:: DESTINATION "${_package_dir}")
endif()
if(_programs)
  install(TARGETS ${_programs})
endif()
add_custom_target(ddpkit_installed DEPENDS ${_libraries} ${_cuda} ${_programs})  # what `cmake --install` needs, and no test
install(EXPORT ddpkitTargets NAMESPACE ddpkit:: DESTINATION "${_package_dir}")

# No promise of binary compatibility between minor versions: of LibTorch, and before 1.0 of ddpkit.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" LibTorch_MAJOR_MINOR "${LibTorch_VERSION}")
configure_package_config_file(cmake/ddpkitConfig.cmake.in ddpkitConfig.cmake INSTALL_DESTINATION "${_package_dir}")
write_basic_package_version_file(ddpkitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/FindLibTorch.cmake cmake/FindXxHash.cmake
  "${PROJECT_BINARY_DIR}/ddpkitConfig.cmake" "${PROJECT_BINARY_DIR}/ddpkitConfigVersion.cmake"
  DESTINATION "${_package_dir}")

# A static archive needs at link time what a shared library carries itself.
set(DDPKIT_PC_PACKAGES "yaml-cpp, spdlog, zlib, libxxhash")
if(BUILD_SHARED_LIBS)
  set(DDPKIT_PC_PRIVATE .private)
else()
  if(DDPKIT_HAVE_MPI)
    string(REPLACE ";" " " DDPKIT_PC_LIBRARIES "${MPI_CXX_LIBRARIES}")
  endif()
  if(TARGET LibTorch::gomp)
    string(APPEND DDPKIT_PC_LIBRARIES " -l:libgomp.so.1")
  endif()
endif()
file(RELATIVE_PATH DDPKIT_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/ddpkit.pc.in ddpkit.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ddpkit.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
