/** The interval between questions to the agent. It costs the agent less than 0.1 % of a processor. */
const askIntervalMs = 2_000;

/** The longest time for an answer. With the interval it is less than the 10 s within which programs get an error. */
export const answerMsMax = 5_000;

/** Whether the agent of the folder answers. */
export interface AgentWatch {
  isUp(): boolean;
  stop(): void;
}

/** Asks the agent at intervals. `changed` is called when it stops to answer, and when it answers again. */
export function watchAgent(ask: () => Promise<unknown>, changed: (isUp: boolean) => void): AgentWatch {
  let isUp = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const answered = (now: boolean): void => {
    if (isStopped) return;
    if (now !== isUp) changed(now);
    isUp = now;
    timer = setTimeout(check, askIntervalMs);
  };
  const check = (): void => {
    ask().then(
      () => answered(true),
      () => answered(false),
    );
  };
  timer = setTimeout(check, askIntervalMs);
  return {
    isUp: () => isUp,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
