import { useCallback, useState } from 'react';
import { sentenceOf } from '../../live/use-api.ts';

/** What became of the last thing that was asked for. */
export type ActionState =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly text: string }
  | { readonly is: 'done'; readonly text: string }
  | { readonly is: 'failed'; readonly text: string };

export interface Action {
  readonly state: ActionState;
  /** Asks for something: `doing` is said meanwhile, and what `ask` resolves with afterwards. */
  readonly run: (doing: string, ask: () => Promise<string>) => Promise<void>;
  readonly forget: () => void;
}

/** One thing at a time that the agent is asked to do, and how it ended. */
export function useAction(): Action {
  const [state, setState] = useState<ActionState>({ is: 'idle' });
  const run = useCallback(async (doing: string, ask: () => Promise<string>) => {
    setState({ is: 'running', text: doing });
    try {
      setState({ is: 'done', text: await ask() });
    } catch (error) {
      setState({ is: 'failed', text: sentenceOf(error) });
    }
  }, []);
  const forget = useCallback(() => setState({ is: 'idle' }), []);
  return { state, run, forget };
}
