@tinct debug --dap
