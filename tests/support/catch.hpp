#pragma once

// LibTorch's logging defines CHECK too, and silently replaces Catch2's where it comes later: let it come first.
#if __has_include(<c10/util/Logging.h>)
#include <c10/util/Logging.h>
#undef CHECK
#endif

// Catch2 2 (one header) or 3 (split headers), whichever the system has.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
