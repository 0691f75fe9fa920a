# The dependencies that can do without a library, out of one folder: for machines on which nothing can be installed.
function(_ddpkit_header_only target probe)
  if(NOT EXISTS "${DDPKIT_HEADERS}/${probe}")
    message(FATAL_ERROR "DDPKIT_HEADERS=${DDPKIT_HEADERS} has no ${probe}; benchmarks/gpu/pack makes a folder that is complete")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${DDPKIT_HEADERS}" INTERFACE_COMPILE_DEFINITIONS "${ARGN}")
endfunction()

_ddpkit_header_only(spdlog::spdlog spdlog/spdlog.h SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
_ddpkit_header_only(nlohmann_json::nlohmann_json nlohmann/json.hpp)
_ddpkit_header_only(XxHash::XxHash xxhash.h)
_ddpkit_header_only(Eigen3::Eigen Eigen/Dense)
