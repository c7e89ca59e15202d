import { expect, test } from 'vitest';
import { BlockTodo } from './block-todo.ts';

test('returns each block once, in order, and blocks to request again first', () => {
  const todo = new BlockTodo(4);
  expect([todo.take(), todo.take(), todo.take()]).toEqual([0, 1, 2]);
  todo.again(1);
  todo.again(0);
  expect([todo.take(), todo.take(), todo.take(), todo.take()]).toEqual([1, 0, 3, undefined]);
  todo.again(3);
  expect([todo.take(), todo.take()]).toEqual([3, undefined]);
});

test('[CT17] a block that is skipped is requested only if it is put back', () => {
  const todo = new BlockTodo(5);
  todo.skip([0, 2, 4]);
  expect([todo.take(), todo.take(), todo.take()]).toEqual([1, 3, undefined]);
  todo.again(2);
  expect([todo.take(), todo.take()]).toEqual([2, undefined]);
});
