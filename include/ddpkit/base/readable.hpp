#pragma once

#include <cstdint>
#include <string>

namespace ddpkit {

/// Numbers as people read them, in tables, advice and logs. Files that programs read keep all digits instead.

/// "1,234,567".
std::string with_thousands(std::int64_t number);

/// Three significant digits, whole from 100 on, with thousands: "0.0812", "5.2", "790", "1,100". "infinite", "not known" (NaN).
std::string readable(double number);

/// Three significant digits in the unit that suits: "3.4 us", "12.5 ms", "1.5 s", "7 min", "2.1 h", "12 days".
std::string readable_seconds(double seconds);

/// Three significant digits in the unit that suits: "512 B", "25 MiB", "1.5 GiB".
std::string readable_bytes(double bytes);

/// A share of one: "8 %", "0.4 %", "91 %": whole from 1 % on.
std::string readable_percent(double share);

}  // namespace ddpkit
