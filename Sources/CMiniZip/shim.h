#pragma once
#include <unzip.h>
