#include "ddpkit/batch/batch_profile.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "ddpkit batch profile";
constexpr int kVersion = 1;

// The fields of each structure, listed once for the writer and the reader.
template <class Visitor>
void visit(Visitor& fields, BatchPlan& plan) {
  fields("global", plan.global);
  fields("micro", plan.micro);
  fields("accumulate", plan.accumulate);
}

template <class Visitor>
void visit(Visitor& fields, MicroMeasurement& at) {
  fields("micro", at.micro);
  fields("seconds", at.seconds);
  fields("half_width", at.half_width);
  fields("repeats", at.repeats);
  fields("peak_bytes", at.peak_bytes);
  fields("data_share", at.data_share);
  fields("communication_share", at.communication_share);
  fields("utilisation", at.utilisation);
}

template <class Visitor>
void visit(Visitor& fields, BatchProfile& profile) {
  fields("model", profile.model);
  fields("device", profile.device);
  fields("world_size", profile.world_size);
  fields("nodes", profile.nodes);
  fields("measured", profile.measured);
  fields("out_of_memory", profile.out_of_memory);
  fields("communication_seconds", profile.communication_seconds);
  fields("update_seconds", profile.update_seconds);
  fields("gradient_bytes", profile.gradient_bytes);
  fields("memory_limit", profile.memory_limit);
  fields("memory_target", profile.memory_target);
  fields("knee_efficiency", profile.knee_efficiency);
  fields("dataset", profile.dataset);
  fields("choice", profile.choice);
  fields("explanation", profile.explanation);
}

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* name, T& value) {
    object_[name] = json_of(value);
  }

 private:
  template <class T>
  static Json json_of(T& value) {
    if constexpr (requires(Writer & writer) { visit(writer, value); }) {
      Json object = Json::object();
      Writer writer(object);
      visit(writer, value);
      return object;
    } else {
      return value;
    }
  }

  template <class T>
  static Json json_of(std::optional<T>& value) {
    return value ? json_of(*value) : Json();
  }

  template <class T>
  static Json json_of(std::vector<T>& values) {
    Json array = Json::array();
    for (T& value : values) array.push_back(json_of(value));
    return array;
  }

  Json& object_;
};

[[noreturn]] void refuse(const std::string& where, std::string_view expected, const Json& got) {
  constexpr std::size_t kReadable = 60;
  throw DataError(text("batch profile: ", where, ": expected ", expected, ", got ", got.dump().substr(0, kReadable)));
}

class Reader {
 public:
  /// `where`: key path of `object`, for errors; empty at the top.
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse(where_, "an object", object);
  }

  template <class T>
  void operator()(const char* name, T& value) {
    const std::string where = where_.empty() ? name : text(where_, ".", name);
    if (!object_.contains(name)) throw DataError(text("batch profile: ", where, " is missing"));
    read(object_.at(name), where, value);
    ++seen_;
  }

  void refuse_others(std::size_t known) const {
    if (object_.size() != seen_ + known)
      throw DataError(text("batch profile: ", where_.empty() ? "the document" : where_, " has fields that version ", kVersion,
                           " does not know"));
  }

 private:
  static void read(const Json& json, const std::string& where, std::string& value) {
    if (!json.is_string()) refuse(where, "a text", json);
    value = json.get<std::string>();
  }

  // What is not finite is written as null.
  static void read(const Json& json, const std::string& where, double& value) {
    if (!json.is_number() && !json.is_null()) refuse(where, "a number", json);
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  }

  static void read(const Json& json, const std::string& where, std::int64_t& value) {
    const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
    if (!json.is_number_integer() || too_large) refuse(where, "a whole number of 64 bits", json);
    value = json.get<std::int64_t>();
    if (value < 0) refuse(where, "a number that is not negative", json);
  }

  static void read(const Json& json, const std::string& where, int& value) {
    std::int64_t wide = 0;
    read(json, where, wide);
    if (wide > std::numeric_limits<int>::max()) refuse(where, "a whole number of 31 bits", json);
    value = static_cast<int>(wide);
  }

  template <class T>
  static void read(const Json& json, const std::string& where, std::optional<T>& value) {
    if (json.is_null()) return value.reset();
    read(json, where, value.emplace());
  }

  template <class T>
  static void read(const Json& json, const std::string& where, std::vector<T>& values) {
    if (!json.is_array()) refuse(where, "a list", json);
    for (const Json& element : json) {
      const std::string at = text(where, "[", values.size(), "]");
      read(element, at, values.emplace_back());
    }
  }

  template <class T>
  requires requires(Reader& reader, T& value) { visit(reader, value); }
  static void read(const Json& json, const std::string& where, T& value) {
    Reader reader(json, where);
    visit(reader, value);
    reader.refuse_others(0);
  }

  const Json& object_;
  std::string where_;
  std::size_t seen_ = 0;
};

Json parse(const std::string& source) {
  try {
    return Json::parse(source);
  } catch (const Json::exception& error) {
    constexpr std::size_t kReadable = 300;  // the parser quotes what it read last, which may be the whole file
    throw DataError(
        text("batch profile: not valid JSON; was the file cut off? ", std::string(error.what()).substr(0, kReadable)));
  }
}

void check_format(const Json& document) {
  if (!document.is_object() || !document.contains("format") || document["format"] != kFormat)
    throw DataError(text("not a batch profile: its format is not \"", kFormat, "\""));
  if (!document.contains("version") || document["version"] != kVersion)
    throw DataError(text("batch profile: version ", document.value("version", Json()).dump(), ", this ddpkit reads version ",
                         kVersion, "; measure again with tune"));
}

void check_positive(std::string_view where, double value) {
  if (!(value > 0) || std::isinf(value)) throw DataError(text("batch profile: ", where, ": must be positive, got ", value));
}

void check_measured(const BatchProfile& profile) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < profile.measured.size(); ++i) {
    const MicroMeasurement& at = profile.measured[i];
    check_positive(text("measured[", i, "].seconds"), at.seconds);
    if (at.micro <= last)
      throw DataError(text("batch profile: measured[", i, "].micro: must rise from ", last, ", got ", at.micro));
    last = at.micro;
  }
}

void check_values(const BatchProfile& profile) {
  check_positive("world_size", profile.world_size);
  check_positive("memory_target", profile.memory_target);
  check_positive("knee_efficiency", profile.knee_efficiency);
  check_measured(profile);
}

}  // namespace

std::string to_json(const BatchProfile& profile) {
  Json document{{"format", kFormat}, {"version", kVersion}};
  BatchProfile copy = profile;  // fields are visited as variables, for the reader's sake
  Writer writer(document);
  visit(writer, copy);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

BatchProfile parse_batch_profile(const std::string& json) {
  const Json document = parse(json);
  check_format(document);
  BatchProfile profile;
  Reader reader(document, "");
  visit(reader, profile);
  reader.refuse_others(2);
  check_values(profile);
  return profile;
}

BatchProfile read_batch_profile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw StorageError(text(file.string(), ": the batch profile cannot be read; does the file exist?"));
  try {
    return parse_batch_profile(source);
  } catch (const DataError& error) {
    throw DataError(text(file.string(), ": ", error.what()));
  }
}

}  // namespace ddpkit
