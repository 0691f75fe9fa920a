#include "session.hpp"

namespace bench {

void Session::add(Row row) const {
  if (place.rehearsal()) return skip(std::move(row), "rehearsed");
  report.add(std::move(row));
}

void Session::skip(Row row, std::string reason) const {
  row.measured.reset();
  row.note = std::move(reason);
  report.add(std::move(row));
}

}  // namespace bench
