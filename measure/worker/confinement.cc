#include "measure/worker/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sanitizers.h"

namespace tilewright::measure {

void LimitResources(int64_t address_space_bytes) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (!kHasShadowMemory && address_space_bytes > 0) {
    const rlim_t bytes = static_cast<rlim_t>(address_space_bytes);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
}

void ExitWhenOutOfMemory() {
  std::set_new_handler([] { _exit(kOutOfMemoryExit); });
}

#if defined(__x86_64__)

namespace {

// Each ends the process.
constexpr int kForbidden[] = {
    SYS_execve,      SYS_execveat,      SYS_socket,
    SYS_connect,     SYS_bind,          SYS_listen,
    SYS_accept,      SYS_accept4,       SYS_ptrace,
    SYS_kill,        SYS_tkill,         SYS_process_vm_readv,
    SYS_unlink,      SYS_unlinkat,      SYS_process_vm_writev,
    SYS_rmdir,       SYS_rename,        SYS_renameat,
    SYS_renameat2,   SYS_mkdir,         SYS_mkdirat,
    SYS_mknod,       SYS_mknodat,       SYS_link,
    SYS_linkat,      SYS_symlink,       SYS_symlinkat,
    SYS_truncate,    SYS_chmod,         SYS_fchmod,
    SYS_fchmodat,    SYS_chown,         SYS_fchown,
    SYS_lchown,      SYS_fchownat,      SYS_setuid,
    SYS_setgid,      SYS_setreuid,      SYS_setregid,
    SYS_setresuid,   SYS_setresgid,     SYS_mount,
    SYS_umount2,     SYS_chroot,        SYS_pivot_root,
    SYS_setns,       SYS_unshare,       SYS_reboot,
    SYS_init_module, SYS_finit_module,  SYS_delete_module,
    SYS_kexec_load,  SYS_bpf,           SYS_swapon,
    SYS_swapoff,     SYS_settimeofday,  SYS_clock_settime,
    SYS_sethostname, SYS_setdomainname,
};
constexpr unsigned kOpensForWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

sock_filter Load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
sock_filter Return(unsigned what) { return BPF_STMT(BPF_RET | BPF_K, what); }

std::vector<sock_filter> Filter(bool may_open_devices) {
  std::vector<sock_filter> filter;
  const auto jump_if = [&](unsigned condition, unsigned value, int yes,
                           int no) {
    filter.push_back(BPF_JUMP(BPF_JMP | condition | BPF_K, value,
                              static_cast<unsigned char>(yes),
                              static_cast<unsigned char>(no)));
  };
  filter.push_back(Load(offsetof(seccomp_data, arch)));
  jump_if(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
  filter.push_back(Return(SECCOMP_RET_KILL_PROCESS));
  filter.push_back(Load(offsetof(seccomp_data, nr)));
  for (const int call : kForbidden) {
    jump_if(BPF_JEQ, static_cast<unsigned>(call), 0, 1);
    filter.push_back(Return(SECCOMP_RET_KILL_PROCESS));
  }
  if (!may_open_devices) {
    struct Open {
      int call;
      size_t flags;
    };
    for (const Open open : {Open{SYS_openat, offsetof(seccomp_data, args[2])},
                            Open{SYS_open, offsetof(seccomp_data, args[1])}}) {
      jump_if(BPF_JEQ, static_cast<unsigned>(open.call), 0, 4);
      filter.push_back(Load(open.flags));
      jump_if(BPF_JSET, kOpensForWriting, 0, 1);
      filter.push_back(Return(SECCOMP_RET_ERRNO | EACCES));
      filter.push_back(Return(SECCOMP_RET_ALLOW));
    }
    jump_if(BPF_JEQ, SYS_creat, 0, 1);
    filter.push_back(Return(SECCOMP_RET_ERRNO | EACCES));
  }
  filter.push_back(Return(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace

absl::Status ForbidSystemCalls(bool may_open_devices) {
  std::vector<sock_filter> filter = Filter(may_open_devices);
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
              &program) != 0) {
    return absl::UnimplementedError(
        absl::StrCat("no filter of system calls: ", strerror(errno)));
  }
  return absl::OkStatus();
}

#else

absl::Status ForbidSystemCalls(bool) {
  return absl::UnimplementedError(
      "no filter of system calls: no table for this architecture");
}

#endif

}  // namespace tilewright::measure
