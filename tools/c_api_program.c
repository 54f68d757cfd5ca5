/* The C API as a plain C program uses it: load, ask for shapes, run two
 * sessions, and be told what is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tilewright.h"

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, \
              #condition, tw_last_error());                              \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

int main(int argc, char** argv) {
  tw_tensor_info in, out;
  tw_model* model;
  tw_session* sessions[2];
  float* input;
  float* outputs[2];
  size_t i, elements;
  double sum = 0;
  EXPECT(argc == 2);

  EXPECT(tw_model_load("/does/not/exist.tw", 1) == NULL);
  EXPECT(strstr(tw_last_error(), "/does/not/exist.tw") != NULL);

  model = tw_model_load(argv[1], 2);
  EXPECT(model != NULL);
  EXPECT(tw_model_num_inputs(model) == 1);
  EXPECT(tw_model_num_outputs(model) == 1);
  EXPECT(tw_model_input(model, 0, &in) == 0);
  EXPECT(tw_model_output(model, 0, &out) == 0);
  EXPECT(tw_model_input(model, 1, &in) == -1);
  EXPECT(tw_model_input(model, 0, &in) == 0);
  EXPECT(in.type == TW_FLOAT32 && in.rank == 2 && in.shape[0] == 64 &&
         in.shape[1] == 32 && in.size_bytes == 64 * 32 * 4);
  EXPECT(out.type == TW_FLOAT32 && out.rank == 2 && out.shape[0] == 64 &&
         out.shape[1] == 48 && out.size_bytes == 64 * 48 * 4);

  input = malloc(in.size_bytes);
  for (i = 0; i < in.size_bytes / sizeof(float); ++i)
    input[i] = (float)(i % 7) - 3.0f;
  for (i = 0; i < 2; ++i) {
    const void* from[1];
    void* to[1];
    sessions[i] = tw_session_create(model);
    EXPECT(sessions[i] != NULL);
    outputs[i] = malloc(out.size_bytes);
    from[0] = input;
    to[0] = outputs[i];
    EXPECT(tw_session_run(sessions[i], from, to) == 0);
  }
  EXPECT(memcmp(outputs[0], outputs[1], out.size_bytes) == 0);
  elements = out.size_bytes / sizeof(float);
  for (i = 0; i < elements; ++i) {
    EXPECT(isfinite(outputs[0][i]) && outputs[0][i] >= 0); /* after ReLU */
    sum += outputs[0][i];
  }
  EXPECT(sum > 0);

  { /* Without denormals on the way they may as well be flushed. */
    tw_options options = {0};
    const void* from[1];
    void* to[1];
    tw_model* flushing;
    tw_session* session;
    options.threads = 1;
    options.flush_denormals = 1;
    flushing = tw_model_load_with(argv[1], &options);
    EXPECT(flushing != NULL);
    session = tw_session_create(flushing);
    EXPECT(session != NULL);
    from[0] = input;
    to[0] = outputs[1];
    EXPECT(tw_session_run(session, from, to) == 0);
    EXPECT(memcmp(outputs[0], outputs[1], out.size_bytes) == 0);
    tw_session_free(session);
    tw_model_free(flushing);
  }

  { /* Without options it is loaded as by default. */
    tw_model* plain = tw_model_load_with(argv[1], NULL);
    EXPECT(plain != NULL);
    EXPECT(tw_model_num_inputs(plain) == tw_model_num_inputs(model));
    tw_model_free(plain);
  }

  tw_model_free(model); /* sessions keep what they need */
  {
    const void* from[1];
    void* to[1];
    from[0] = input;
    to[0] = outputs[1];
    EXPECT(tw_session_run(sessions[1], from, to) == 0);
  }
  EXPECT(memcmp(outputs[0], outputs[1], out.size_bytes) == 0);
  for (i = 0; i < 2; ++i) {
    tw_session_free(sessions[i]);
    free(outputs[i]);
  }
  free(input);
  printf("C API works\n");
  return 0;
}
