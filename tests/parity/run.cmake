# parity on the golden files of the directory in GRAPHPAE_TEST_GOLDEN; skipped without it.
if("$ENV{GRAPHPAE_TEST_GOLDEN}" STREQUAL "")
  message("GRAPHPAE_TEST_GOLDEN names no directory: skipped")
  return()
endif()
file(GLOB files $ENV{GRAPHPAE_TEST_GOLDEN}/*.npz)
execute_process(COMMAND ${PROGRAM} ${files} COMMAND_ERROR_IS_FATAL ANY)
