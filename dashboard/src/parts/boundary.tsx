import { Component, type ReactNode } from 'react';

interface Props {
  /** Shown in place of the children after one of them threw `error`. `again` renders them once more. */
  readonly fallback: (error: unknown, again: () => void) => ReactNode;
  /** When it changes to a value other than undefined, the children are rendered once more. */
  readonly retryOn?: unknown;
  /** Called before the children are rendered once more. */
  readonly beforeRetry?: () => void;
  readonly children: ReactNode;
}

interface State {
  readonly failure: { readonly error: unknown } | undefined;
}

/** Keeps an error of one part of the page from removing the rest. React offers this to classes only. */
export class Boundary extends Component<Props, State> {
  override readonly state: State = { failure: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } };
  }

  override componentDidUpdate({ retryOn: before }: Props): void {
    const { retryOn } = this.props;
    if (this.state.failure !== undefined && retryOn !== undefined && retryOn !== before) this.again();
  }

  readonly again = (): void => {
    this.props.beforeRetry?.();
    this.setState({ failure: undefined });
  };

  override render(): ReactNode {
    const { failure } = this.state;
    return failure === undefined ? this.props.children : this.props.fallback(failure.error, this.again);
  }
}
