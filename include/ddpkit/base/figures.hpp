#pragma once

#include <cstdint>
#include <string>

// How numbers read where people see them: three significant digits, groups of thousands, a unit. Pure functions, the same in
// every locale. What is not finite reads "inf", "-inf" or "nan".

namespace ddpkit {

/// "7", "12,345", "-1,000".
std::string grouped(std::int64_t count);

/// Three significant digits: "0.0123", "12.3", "1,230", "51,200"; from 1e7 on and below 1e-4 as "1.2e+07", "1.2e-05".
std::string figure(double value);

/// With so many decimals: "0.250", "1,234.5".
std::string fixed_figure(double value, int decimals);

/// "512 B", "1.5 KiB", "26.2 MiB", "1,020 GiB".
std::string bytes_figure(double bytes);

/// "850 ns", "12.3 us", "4.5 ms", "1.25 s"; from 100 s on in whole seconds: "3,600 s".
std::string seconds_figure(double seconds);

/// A share as a percentage, in whole ones from 10 on: "91 %", "2.4 %", "0 %".
std::string percent_figure(double share);

}  // namespace ddpkit
