#include "ddpkit/checkpoint/manifest.hpp"

#include <algorithm>
#include <span>

#include "checkpoint/digest.hpp"
#include "checkpoint/plain_name.hpp"
#include "checkpoint/strict_json.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using nlohmann::json;

constexpr int kIndent = 2;

/// Keys are sorted and the layout is fixed, so equal documents have equal digests.
std::string digest_of(const json& document) {
  const std::string written = document.dump(kIndent);
  Digest digest;
  digest.update(std::as_bytes(std::span(written)));
  return digest.hex();
}

json to_json(const SavedPosition& sampler) {
  json changes = json::array();
  for (const auto& change : sampler.changes)
    changes.push_back({{"epoch", change.epoch}, {"position", change.position}, {"global", change.global}});
  return {{"epoch", sampler.epoch}, {"position", sampler.position}, {"global", sampler.global}, {"changes", changes}};
}

SavedPosition position_from(const json& document) {
  SavedPosition sampler;
  sampler.epoch = document.at("epoch").get<std::int64_t>();
  sampler.position = document.at("position").get<std::int64_t>();
  sampler.global = document.at("global").get<std::int64_t>();
  for (const json& change : document.at("changes"))
    sampler.changes.push_back({.epoch = change.at("epoch").get<std::int64_t>(),
                               .position = change.at("position").get<std::int64_t>(),
                               .global = change.at("global").get<std::int64_t>()});
  return sampler;
}

Manifest manifest_from(const json& document) {
  Manifest manifest;
  manifest.step = document.at("step").get<std::int64_t>();
  manifest.world_size = document.at("world_size").get<std::int64_t>();
  manifest.sequence = document.at("sequence").get<std::int64_t>();
  manifest.standing = document.at("best").get<bool>() ? Standing::best : Standing::ordinary;
  manifest.sampler = position_from(document.at("sampler"));
  manifest.ddpkit_version = document.at("ddpkit_version").get<std::string>();
  manifest.values = document.at("values").get<std::map<std::string, std::string>>();
  for (const json& file : document.at("files"))
    manifest.files.push_back({.name = file.at("name").get<std::string>(),
                              .size = file.at("size").get<std::uint64_t>(),
                              .digest = file.at("xxh3_128").get<std::string>()});
  return manifest;
}

void check_format(const json& document, const std::string& where) {
  if (!document.is_object() || !document.contains("format") || !document["format"].is_number_integer())
    throw StorageError(text(where, ": not a checkpoint manifest: it has no format number"));
  const auto format = document["format"].get<std::int64_t>();
  if (format != Manifest::kFormat)
    throw StorageError(text(where, ": written in format ", format, ", this ddpkit reads format ", Manifest::kFormat,
                            "; read it with the version that wrote it"));
}

void check_unchanged(json& document, const std::string& where) {
  const json claimed = document.value("digest", json());
  document.erase("digest");
  if (claimed != digest_of(document))
    throw StorageError(text(where, ": its content does not match its digest: damaged, or changed by hand"));
}

}  // namespace

std::string format_manifest(const Manifest& manifest) {
  json files = json::array();
  for (const FileRecord& file : manifest.files)
    files.push_back({{"name", file.name}, {"size", file.size}, {"xxh3_128", file.digest}});
  json document = {{"format", Manifest::kFormat},
                   {"step", manifest.step},
                   {"world_size", manifest.world_size},
                   {"sequence", manifest.sequence},
                   {"best", manifest.standing == Standing::best},
                   {"sampler", to_json(manifest.sampler)},
                   {"ddpkit_version", manifest.ddpkit_version},
                   {"values", manifest.values},
                   {"files", files}};
  try {
    document["digest"] = digest_of(document);
    return document.dump(kIndent) + '\n';
  } catch (const json::exception& error) {
    throw UsageError(text("a name or value for a checkpoint's manifest is not UTF-8: ", error.what()));
  }
}

Manifest parse_manifest(std::string_view source, const std::string& where) {
  constexpr std::size_t kDepth = 4;
  json document = parse_strict_json(source, kDepth, where);
  check_format(document, where);
  check_unchanged(document, where);
  try {
    Manifest manifest = manifest_from(document);
    for (const FileRecord& file : manifest.files)
      if (!is_plain_name(file.name)) throw StorageError(text(where, ": \"", file.name, "\" is not a plain file name"));
    return manifest;
  } catch (const json::exception& error) {
    throw StorageError(text(where, ": not a checkpoint manifest: ", error.what()));
  }
}

}  // namespace ddpkit
