import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { dropped } from '../../parts/uploads/picked.ts';
import { uploads } from '../../parts/uploads/uploads.ts';
import classes from './drop-target.module.css';

/**
 * Takes files and directories that are dropped on it. They go to `directory`, or to the directory of the row that they are dropped on (its
 * `data-directory`).
 */
export function DropTarget({ directory, children }: { readonly directory: string; readonly children: ReactNode }) {
  const [over, setOver] = useState<string>();
  const depth = useRef(0);
  const leave = (): void => {
    depth.current = 0;
    setOver(undefined);
  };
  const ifFiles = (handle: (event: DragEvent) => void) => (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    handle(event);
  };
  const targetOf = ({ target }: DragEvent): string =>
    (target as Element).closest<HTMLElement>('[data-directory]')?.dataset.directory ?? directory;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons above the list do the same without a mouse
    <div
      className={classes.target}
      onDragEnter={ifFiles((event) => {
        depth.current++;
        setOver(targetOf(event));
      })}
      onDragOver={ifFiles((event) => {
        event.dataTransfer.dropEffect = 'copy';
      })}
      onDragLeave={ifFiles(() => {
        if (--depth.current <= 0) leave();
      })}
      onDrop={ifFiles((event) => {
        const into = targetOf(event);
        leave();
        void dropped(event.dataTransfer).then((picked) => uploads.add(into, picked));
      })}
    >
      {children}
      {over !== undefined && (
        <div className={classes.over} aria-hidden="true">
          <span>Into {over === '' ? 'the folder' : over}</span>
        </div>
      )}
    </div>
  );
}
