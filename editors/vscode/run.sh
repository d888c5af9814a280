#!/bin/sh
exec tinct debug --dap
