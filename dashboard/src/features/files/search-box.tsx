import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import classes from './search-box.module.css';

/** The pause in typing after which the search starts. */
const restMs = 200;

/** A field for part of a name; `onSearch` gets the text after a pause in typing. */
export function SearchBox({ value, onSearch }: { readonly value: string; readonly onSearch: (text: string) => void }) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address may change by a link or by going back.
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: string, delayMs: number): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(next), delayMs);
  };
  return (
    <TextInput
      type="search"
      className={classes.box}
      aria-label="Search all files by name"
      placeholder="Search all files by name"
      maxLength={255}
      value={text}
      onChange={(event) => change(event.currentTarget.value, restMs)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') change('', 0);
      }}
      leftSection={<IconSearch size={16} aria-hidden="true" />}
      rightSection={
        text !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => change('', 0)} />
      }
    />
  );
}
