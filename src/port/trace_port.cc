#include "port/trace_port.h"

#include "port/no_cancel.h"
#include "wire/print.h"

namespace mrc::port {

TracePort::TracePort(std::unique_ptr<Port> inner, const wire::Settings& settings, TraceSink sink)
    : TapPort(std::move(inner)),
      settings_(settings),
      sink_(std::move(sink)),
      frames_(capabilities().layer == Layer::frame) {}

void TracePort::see(const Sighting& packet) {
  bytes_.clear();
  for (const iovec& piece : packet.pieces) {
    const auto* start = static_cast<const std::uint8_t*>(piece.iov_base);
    bytes_.insert(bytes_.end(), start, start + piece.iov_len);
  }
  const wire::Datagram around{.source = {packet.from.ip},
                              .destination = {packet.to.ip},
                              .source_port = packet.source_port,
                              .destination_port = settings_.udp_port,
                              .flow_label = packet.flow_label,
                              .traffic_class = packet.tos};
  wire::Parsed parsed;
  const Verdict verdict = frames_ ? wire::parse_l2(bytes_, settings_, parsed)
                                  : wire::parse_datagram(bytes_, around, settings_, parsed);
  std::string line = packet.outgoing ? "> " : "< ";
  line += wire::one_line(parsed);
  if (verdict != Verdict::ok) line += " [" + std::string(name(verdict)) + "]";
  const NoCancel whole;
  sink_(line);
}

}  // namespace mrc::port
