#include "hpcrun/base/own-section.h"

__thread unsigned own_sections;
