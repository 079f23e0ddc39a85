/* Runs an ONNX model on inputs that count 0, 0.1, 0.2, ... and prints its outputs.
 *
 *     run_model MODEL.onnx [ENGINE [THREADS]]
 *
 * Only inputs of floats; extents that may differ from run to run are 1. */

#include <inttypes.h>
#include <isomer/capi/isomer.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status, const isomer_error* error) {
  if (status == ISOMER_OK) return;
  fprintf(stderr, "run_model: %s\n", error->message);
  exit(1);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "run_model: out of memory\n");
    exit(1);
  }
  return memory;
}

/* The input at an index, with elements of its own; all zeros where the model has a default. */
static isomer_input make_input(const isomer_model* model, size_t index) {
  isomer_error error;
  isomer_value value;
  check(isomer_get_input(model, index, &value, &error), &error);
  if (value.has_default) return (isomer_input){0};
  if (value.type.dtype != ISOMER_FLOAT || value.type.rank < 0) {
    fprintf(stderr, "run_model: input %s is not of floats of a known rank\n", value.name);
    exit(1);
  }
  isomer_input input = {.type = value.type};
  for (int32_t axis = 0; axis < input.type.rank; ++axis)
    if (input.type.extents[axis] < 0) input.type.extents[axis] = 1;
  check(isomer_type_bytes(&input.type, &input.bytes, &error), &error);
  const size_t count = input.bytes / sizeof(float);
  float* elements = allocate(count, sizeof(float));
  for (size_t i = 0; i < count; ++i) elements[i] = 0.1F * (float)i;
  input.data = elements;
  return input;
}

/* Runs, first without room for the outputs, which tells how large they are, then with it. Where all extents of the
 * outputs are known beforehand, isomer_get_output and isomer_type_bytes tell that without a run. */
static isomer_output* run(isomer_model* model, const isomer_input* inputs, size_t num_inputs, size_t num_outputs) {
  isomer_error error;
  isomer_output* outputs = allocate(num_outputs, sizeof(isomer_output));
  const int status = isomer_run(model, inputs, num_inputs, outputs, num_outputs, &error);
  if (status != ISOMER_TOO_SMALL) check(status, &error);
  for (size_t i = 0; i < num_outputs; ++i) {
    outputs[i].capacity = outputs[i].bytes;
    outputs[i].data = allocate(outputs[i].bytes, 1);
  }
  check(isomer_run(model, inputs, num_inputs, outputs, num_outputs, &error), &error);
  return outputs;
}

static void print(const isomer_model* model, size_t index, const isomer_output* output) {
  isomer_error error;
  isomer_value value;
  check(isomer_get_output(model, index, &value, &error), &error);
  printf("%s [", value.name);
  for (int32_t axis = 0; axis < output->type.rank; ++axis)
    printf("%s%" PRId64, axis > 0 ? "," : "", output->type.extents[axis]);
  printf("]");
  if (output->type.dtype == ISOMER_FLOAT) {
    const float* elements = output->data;
    for (size_t i = 0; i < output->bytes / sizeof(float); ++i) printf(" %.9g", elements[i]);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: run_model MODEL.onnx [ENGINE [THREADS]]\n");
    return 2;
  }
  isomer_error error;
  isomer_model* model = NULL;
  char options[64];
  snprintf(options, sizeof options, "{\"threads\": %d}", argc > 3 ? atoi(argv[3]) : 1);
  check(isomer_load(argv[1], argc > 2 ? argv[2] : "onednn", options, &model, &error), &error);

  size_t num_inputs = 0;
  size_t num_outputs = 0;
  check(isomer_input_count(model, &num_inputs, &error), &error);
  check(isomer_output_count(model, &num_outputs, &error), &error);
  isomer_input* inputs = allocate(num_inputs, sizeof(isomer_input));
  for (size_t i = 0; i < num_inputs; ++i) inputs[i] = make_input(model, i);
  isomer_output* outputs = run(model, inputs, num_inputs, num_outputs);
  for (size_t i = 0; i < num_outputs; ++i) print(model, i, &outputs[i]);

  for (size_t i = 0; i < num_outputs; ++i) free(outputs[i].data);
  for (size_t i = 0; i < num_inputs; ++i) free((void*)inputs[i].data);
  free(outputs);
  free(inputs);
  isomer_release(model);
  return 0;
}
