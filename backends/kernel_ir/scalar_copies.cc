#include "backends/kernel_ir/scalar_copies.h"

#include <cstring>
#include <utility>

namespace tilewright::kernel_ir::internal {
namespace {

// Null after a race.
const Code* Land(FullMachine& m, const Flight& flight) {
  Memory& to = m.memory[flight.code->aux];
  const int64_t size = SizeBytes(to.buffer->dtype);
  for (int i = 0; i < flight.code->lanes; ++i) {
    const int64_t at = flight.first + i;
    to.touched[at].copied_by = -1;
    if (TouchToWrite(m, flight.code, at) == nullptr) return nullptr;
    to.written[at] = m.task_mark;
    if (flight.bytes.empty()) {
      std::memset(to.data + at * size, 0, size);
    } else {
      std::memcpy(to.data + at * size, &flight.bytes[i * size], size);
    }
  }
  return flight.code;
}

}  // namespace

const Code* AsyncCopyStep(Machine& machine, const Code* c) {
  FullMachine& m = static_cast<FullMachine&>(machine);
  const Code* const source = c + 1;
  Memory& to = m.memory[c->aux];
  const Memory& from = m.memory[source->aux];
  const int64_t size = SizeBytes(to.buffer->dtype);
  const int64_t bytes = size * c->lanes;
  Flight flight{c, FirstElement(m, c), {}};
  if (c->c < 0 || m.regs[c->c] != 0) {
    const int64_t first = FirstElement(m, source);
    if (first < 0 || first + c->lanes > from.buffer->elements)
      return Stop(m, source, first < 0 ? first : from.buffer->elements,
                  "copy of");
    flight.bytes.assign(from.data + first * size,
                        from.data + first * size + bytes);
    if (m.on_access != nullptr)
      (*m.on_access)(source->aux, first * size, bytes, false);
  }
  if (flight.first < 0 || flight.first + c->lanes > to.buffer->elements)
    return Stop(m, c, flight.first < 0 ? flight.first : to.buffer->elements,
                "copy to");
  for (int i = 0; i < c->lanes; ++i) {
    if (TouchToWrite(m, c, flight.first + i) == nullptr) return nullptr;
    to.touched[flight.first + i].copied_by = m.thread;
  }
  if (m.on_access != nullptr)
    (*m.on_access)(c->aux, flight.first * size, bytes, true);
  m.flights->open.push_back(std::move(flight));
  return c + 2;
}

const Code* CommitStep(Machine& machine, const Code* c) {
  Flights& flights = *static_cast<FullMachine&>(machine).flights;
  flights.groups.push_back(std::move(flights.open));
  flights.open.clear();
  return c + 1;
}

const Code* WaitStep(Machine& machine, const Code* c) {
  FullMachine& m = static_cast<FullMachine&>(machine);
  std::vector<std::vector<Flight>>& groups = m.flights->groups;
  while (static_cast<int64_t>(groups.size()) > c->imm) {
    for (const Flight& flight : groups.front()) {
      if (Land(m, flight) == nullptr) return nullptr;
    }
    groups.erase(groups.begin());
  }
  return c + 1;
}

void DropFlights(FullMachine& m, Flights& flights) {
  flights.groups.push_back(std::move(flights.open));
  for (const std::vector<Flight>& group : flights.groups) {
    for (const Flight& flight : group) {
      for (int i = 0; i < flight.code->lanes; ++i)
        m.memory[flight.code->aux].touched[flight.first + i].copied_by = -1;
    }
  }
  flights = {};
}

}  // namespace tilewright::kernel_ir::internal
