-- arguments: N, Times
local function fib(n)
  if n == 0 then return 1 end
  if n == 1 then return 1 end
  return fib(n - 1) + fib(n - 2)
end
local result = 0
for _ = 1, tonumber(arg[2]) do result = fib(tonumber(arg[1])) end
print(string.format("%.0f", result))
