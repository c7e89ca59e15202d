import { expect, test } from 'vitest';
import { refusedByText, removalReason, removerIn } from './removal.ts';

test('the reason of a refusal names the member that removed the refused one', () => {
  expect(removerIn(removalReason('ant', 'cat'))).toBe('ant');
  expect(removerIn(refusedByText('bee', removalReason('ant', 'cat')))).toBe('ant');
  expect(removerIn('Removed from the cluster by ant; to take it back, run there: lockstep remove --undo cat.')).toBe(
    'ant',
  );
  expect(removerIn('the connection was lost')).toBeUndefined();
  expect(removerIn(undefined)).toBeUndefined();
});
