#include "hpcrun/logical/agent-table.h"

struct agents agents;
