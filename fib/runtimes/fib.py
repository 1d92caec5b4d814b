# arguments: N, Times
import sys


def fib(n):
    if n == 0:
        return 1
    if n == 1:
        return 1
    return fib(n - 1) + fib(n - 2)


result = 0
for _ in range(int(sys.argv[2])):
    result = fib(int(sys.argv[1]))
print(result)
