// SPDX-License-Identifier: MIT
#include "profile/CountedEvent.h"

#include "../../runtime/profiler/layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <perfmon/pfmlib_perf_event.h>

using namespace llvm;

namespace relock {

namespace {

// Misses of a branch or of a page table's cache are no lines that move.
bool namesCacheMisses(StringRef Name) {
  std::string Upper = Name.upper();
  auto Has = [&](const char *Word) { return StringRef(Upper).contains(Word); };
  return (Has("MISS") || Has("REFILL")) && !Has("BRANCH") && !Has("BR_") && !Has("TLB");
}

// Without what it says of privilege levels where that is the usual: the program's own code.
StringRef shortened(StringRef Full) {
  Full.consume_front("perf::PERF_COUNT_HW_");
  Full.consume_front("perf::PERF_COUNT_SW_");
  return Full.split(":u=1:k=0").first.split(":e=0").first;
}

} // namespace

Expected<EncodedEvent> encodeEvent(StringRef Name) {
  perf_event_attr Attributes = {};
  char *Full = nullptr;
  pfm_perf_encode_arg_t Argument = {};
  Argument.attr = &Attributes;
  Argument.fstr = &Full;
  Argument.size = sizeof Argument;
  int Result = pfm_initialize();
  if (Result == PFM_SUCCESS)
    Result = pfm_get_os_event_encoding(Name.str().c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &Argument);
  if (Result != PFM_SUCCESS)
    return createStringError(inconvertibleErrorCode(), "%s", pfm_strerror(Result));
  unsigned Flags = (Attributes.exclude_user ? RELOCK_EVENT_NOT_USER : 0) |
                   (Attributes.exclude_kernel ? RELOCK_EVENT_NOT_KERNEL : 0) |
                   (Attributes.exclude_hv ? RELOCK_EVENT_NOT_HYPERVISOR : 0);
  EncodedEvent Event;
  Event.Name = Name.str();
  if (StringRef Completed = Full ? shortened(Full) : ""; !Completed.starts_with("perf_raw"))
    Event.Name = Completed.str();
  std::free(Full);
  Event.CacheMisses = namesCacheMisses(Event.Name);
  for (uint64_t Part : {uint64_t(Attributes.type), uint64_t(Attributes.config),
                        uint64_t(Attributes.config1), uint64_t(Attributes.config2)})
    Event.Text += utohexstr(Part, /*LowerCase=*/true) + ",";
  Event.Text += utohexstr(Flags, /*LowerCase=*/true);
  return Event;
}

std::string whyNotCounted(int Error) {
  switch (Error) {
  case 0:
    return "the profiler found no room to begin with";
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    return "this machine has no counter for it, as most virtual machines have none";
  case ENOSYS:
    return "the kernel has no perf_event_open";
  case EACCES:
  case EPERM: {
    auto Level = MemoryBuffer::getFileAsStream("/proc/sys/kernel/perf_event_paranoid");
    std::string Now = Level ? (*Level)->getBuffer().trim().str() : "not readable";
    return "not permitted: kernel.perf_event_paranoid is " + Now +
           ", and must be at most 2, at most 1 for events of the kernel; or a seccomp filter, such "
           "as a container's, forbids it";
  }
  case EMFILE:
  case ENFILE:
    return "no file descriptor was left for it";
  default:
    return std::string("perf_event_open failed: ") + strerror(Error);
  }
}

} // namespace relock
