// The entry of the unit tests: every other file in this folder holds the cases of one part.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
