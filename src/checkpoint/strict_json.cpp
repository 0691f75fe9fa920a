#include "checkpoint/strict_json.hpp"

#include <set>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using nlohmann::json;

/// Watches the parser: the keys seen so far in each open object, innermost last. Arrays hold an empty set.
class Watch {
 public:
  Watch(std::size_t max_depth, const std::string& where) : max_depth_(max_depth), where_(where) {}

  void see(json::parse_event_t event, const json& value) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start: enter(); break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end: open_.pop_back(); break;
      case json::parse_event_t::key: see_key(value.get_ref<const std::string&>()); break;
      case json::parse_event_t::value: break;
    }
  }

 private:
  void enter() {
    if (open_.size() == max_depth_) throw StorageError(text(where_, ": nested deeper than ", max_depth_, " levels"));
    open_.emplace_back();
  }

  void see_key(const std::string& key) {
    if (!open_.back().insert(key).second) throw StorageError(text(where_, ": key \"", key, "\" appears twice"));
  }

  std::size_t max_depth_;
  const std::string& where_;
  std::vector<std::set<std::string>> open_;
};

}  // namespace

json parse_strict_json(std::string_view source, std::size_t max_depth, const std::string& where) {
  Watch watch(max_depth, where);
  try {
    return json::parse(source, [&](int, json::parse_event_t event, json& value) {
      watch.see(event, value);
      return true;
    });
  } catch (const json::exception& error) {
    constexpr std::size_t kReadable = 300;  // the parser quotes what it read last, which may be the whole file
    throw StorageError(text(where, ": not valid JSON: ", std::string(error.what()).substr(0, kReadable)));
  }
}

}  // namespace ddpkit
