"""STATIC_LIBRARIES: for programs that run where Debian's libraries are not."""

_ABSEIL = [
    "bad_optional_access",
    "bad_variant_access",
    "base",
    "city",
    "civil_time",
    "cord",
    "cord_internal",
    "cordz_functions",
    "cordz_handle",
    "cordz_info",
    "debugging_internal",
    "demangle_internal",
    "exponential_biased",
    "graphcycles_internal",
    "hash",
    "hashtablez_sampler",
    "int128",
    "log_severity",
    "low_level_hash",
    "malloc_internal",
    "raw_hash_set",
    "raw_logging_internal",
    "spinlock_wait",
    "stacktrace",
    "status",
    "statusor",
    "str_format_internal",
    "strerror",
    "strings",
    "strings_internal",
    "symbolize",
    "synchronization",
    "throw_delegate",
    "time",
    "time_zone",
]

# Stands before the libraries of dependencies: what these archives define is not
# asked of shared objects any more, and those that nothing is asked of are left
# out (--as-needed). libc stays shared: vendor libraries are opened at run time.
STATIC_LIBRARIES = [
    "-static-libgcc",
    "-Wl,--start-group",
    "-l:libgtest.a",
    "-l:libprotobuf.a",
] + ["-l:libabsl_%s.a" % name for name in _ABSEIL] + [
    "-l:libz.a",
    "-l:libstdc++.a",
    "-Wl,--end-group",
    "-Wl,--as-needed",
]
