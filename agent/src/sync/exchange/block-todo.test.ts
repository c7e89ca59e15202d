import { expect, test } from 'vitest';
import { BlockTodo } from './block-todo.ts';
import { Offer } from './offers.ts';

/** Takes the next `count` blocks from a member that has all. */
function taken(todo: BlockTodo, count: number, isOffered?: (index: number) => boolean): (number | undefined)[] {
  return Array.from({ length: count }, () => {
    const index = todo.next(isOffered);
    if (index !== undefined) todo.take(index);
    return index;
  });
}

function offerOf(indices: readonly number[]): Offer {
  const offer = new Offer();
  for (const index of indices) offer.add(index);
  return offer;
}

test('returns each block once, in order, and blocks to request again first', () => {
  const todo = new BlockTodo(4);
  expect(taken(todo, 3)).toEqual([0, 1, 2]);
  todo.again(1);
  todo.again(0);
  expect(taken(todo, 4)).toEqual([1, 0, 3, undefined]);
  todo.again(3);
  expect(taken(todo, 2)).toEqual([3, undefined]);
});

test('[CT17] a block that is skipped is requested only if it is put back', () => {
  const todo = new BlockTodo(5);
  todo.skip([0, 2, 4]);
  expect(todo.hereCount).toBe(3);
  expect(taken(todo, 3)).toEqual([1, 3, undefined]);
  todo.again(2);
  expect(todo.hereCount).toBe(2);
  expect(taken(todo, 2)).toEqual([2, undefined]);
});

test('[CT21] members that fetch a content together begin with different parts, and meet at their ends', () => {
  const orderOf = (place: number) => taken(new BlockTodo(8, { place, members: 3 }), 8);
  expect(orderOf(0)).toEqual([0, 1, 7, 6, 5, 4, 3, 2]);
  expect(orderOf(1)).toEqual([2, 3, 4, 1, 0, 7, 6, 5]);
  expect(orderOf(2)).toEqual([5, 6, 7, 4, 3, 2, 1, 0]);
  const distances = (place: number) => {
    const todo = new BlockTodo(8, { place, members: 3 });
    return Array.from({ length: 8 }, (_, index) => todo.distance(index));
  };
  expect(distances(0)).toEqual([0, 0, 2, 2, 2, 1, 1, 1]);
  expect(distances(2)).toEqual([2, 2, 1, 1, 1, 0, 0, 0]);
  expect([1, 3].map((members) => new BlockTodo(8, { place: 0, members }).isShared)).toEqual([false, true]);
});

test('[CT21] blocks that another member offers are the last that a member with all blocks is asked for', () => {
  const todo = new BlockTodo(6);
  expect(taken(todo, 7, (index) => index % 2 === 0)).toEqual([1, 3, 5, 0, 2, 4, undefined]);
});

test('a member that has some blocks is asked for these, those to be requested again first', () => {
  const todo = new BlockTodo(6);
  const offer = offerOf([4, 1, 2]);
  expect(todo.nextOf(offer)).toBe(4);
  todo.take(4);
  todo.skip([1]);
  expect(todo.nextOf(offer)).toBe(2);
  todo.take(2);
  expect(todo.nextOf(offer)).toBeUndefined();
  todo.again(4);
  todo.take(3);
  todo.again(3);
  expect(todo.nextOf(offer)).toBe(4);
  expect(todo.next()).toBe(4);
});

test('[OD2] the blocks that readers wait for come first, in the order of their readers, and then those that they need next', () => {
  const todo = new BlockTodo(100);
  todo.take(0);
  todo.again(0);
  const readers = [30, 60, 90];
  for (const index of readers) todo.prefer(index, 2);
  // A reader that waits repeats it.
  todo.prefer(60, 2);
  expect(taken(todo, 11)).toEqual([...readers, 0, 61, 62, 91, 92, 31, 32, 1]);
});

test('[OD2] of a member that offers some blocks, those come first too that a reader waits for', () => {
  const todo = new BlockTodo(100);
  const offer = offerOf([10, 31, 60]);
  for (const index of [30, 60]) todo.prefer(index, 2);
  expect(todo.nextOf(offer)).toBe(60);
  todo.take(60);
  expect(todo.nextOf(offer)).toBe(31);
});
