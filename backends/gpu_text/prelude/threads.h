// Threads of a warp: what another lane has, any type, word by word. All lanes
// must take part.
template <typename T>
union tw_words {
  u32 word[(sizeof(T) + 3) / 4];
  T value;
};
// Takes the value of the lane whose number is this one's xor `mask`.
template <typename T>
TW_FN T tw_shfl_xor(T value, tw_at mask) {
  tw_words<T> u = {};
  u.value = value;
  TW_LANES((sizeof(T) + 3) / 4, u.word[i] = tw_word_xor(u.word[i], mask));
  return u.value;
}
// Takes the value of that lane; only the low bits of `lane` count.
template <int warp, typename T>
TW_FN T tw_shfl(T value, tw_at lane) {
  tw_words<T> u = {};
  u.value = value;
  TW_LANES((sizeof(T) + 3) / 4, u.word[i] = tw_word_of<warp>(u.word[i], lane));
  return u.value;
}

// Kernels.

// Copies n elements of an argument into scratch in pieces that lie at multiples
// of their size, some time until the thread waits; with `there` false zeros.
// Where hardware has nothing for that, or not for such pieces, at once.
#ifndef TW_ASYNC
TW_FN void tw_commit_copies() {}
template <int pending>
TW_FN void tw_wait_copies() {}
#endif
#ifndef TW_CHECKED
template <int bytes, typename T>
struct alignas(bytes) tw_piece {
  T lane[bytes / sizeof(T)];
};
template <int bytes, typename T>
TW_FN void tw_copy_piece(T* to, const T* from, bool there) {
#ifdef TW_ASYNC
  if constexpr (bytes >= 4) return tw_async_piece<bytes>(to, from, there);
#endif
  if (there)
    *(tw_piece<bytes, T>*)to = *(const tw_piece<bytes, T>*)from;
  else
    *(tw_piece<bytes, T>*)to = {};
}
template <int n, int bytes, typename T>
TW_FN void tw_copy_async(T* to, tw_at to_at, const T* from, tw_at from_at,
                         bool there = true) {
  constexpr int each = bytes / (int)sizeof(T);
  TW_LANES(n / each, tw_copy_piece<bytes>(to + to_at + i * each,
                                          from + from_at + i * each, there));
}
#endif
