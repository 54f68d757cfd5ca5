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
  TW_LANES((sizeof(T) + 3) / 4) u.word[i] = tw_word_xor(u.word[i], mask);
  return u.value;
}
// Takes the value of that lane; only the low bits of `lane` count.
template <int warp, typename T>
TW_FN T tw_shfl(T value, tw_at lane) {
  tw_words<T> u = {};
  u.value = value;
  TW_LANES((sizeof(T) + 3) / 4) u.word[i] = tw_word_of<warp>(u.word[i], lane);
  return u.value;
}

// Kernels.
