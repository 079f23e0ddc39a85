#include "isomer/report/chrome_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isomer/base/version.h"

namespace isomer {
namespace {

using nlohmann::json;

json note_json(const std::variant<double, std::string>& value) {
  return std::visit([](const auto& one) { return json(one); }, value);
}

json span_json(const TraceSpan& span) {
  json notes = json::object();
  for (const auto& [name, value] : span.notes) notes[name] = note_json(value);
  return {{"name", span.name},     {"cat", span.category},    {"ph", "X"},
          {"ts", span.start},      {"dur", span.duration},    {"pid", 1},
          {"tid", span.track + 1}, {"args", std::move(notes)}};
}

}  // namespace

json chrome_trace(const Trace& trace) {
  json events = json::array();
  for (size_t i = 0; i < trace.tracks().size(); ++i)
    events.push_back(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", i + 1}, {"args", {{"name", trace.tracks()[i]}}}});
  std::vector<const TraceSpan*> spans;
  for (const TraceSpan& span : trace.spans()) spans.push_back(&span);
  std::ranges::stable_sort(spans, [](const TraceSpan* a, const TraceSpan* b) {
    return a->start != b->start ? a->start < b->start : a->duration > b->duration;
  });
  for (const TraceSpan* span : spans) events.push_back(span_json(*span));
  for (const TraceNumber& number : trace.numbers())
    events.push_back(
        {{"name", number.name}, {"ph", "C"}, {"pid", 1}, {"ts", number.time}, {"args", {{number.name, number.value}}}});
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}, {"otherData", {{"isomer", version()}}}};
}

}  // namespace isomer
