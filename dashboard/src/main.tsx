import '@mantine/core/styles.css';
import { Button, type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import './app/global.css';
import { Boundary } from './parts/boundary.tsx';
import { Empty } from './parts/notice.tsx';

const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 8, dark: 5 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
});

/**
 * Corrections to the library's colours. Its dimmed text, its links and its errors are too pale (WCAG requires a contrast of 4.5 to 1). In the dark
 * scheme its outlines are nearly white, whatever their colour.
 */
const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-anchor': 'var(--mantine-color-cyan-9)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-outline': 'var(--mantine-color-red-5)',
    '--mantine-color-orange-outline': 'var(--mantine-color-orange-4)',
  },
});

const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no element #root');

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <Boundary fallback={() => <Stopped />}>
        <App />
      </Boundary>
    </MantineProvider>
  </StrictMode>,
);

/** In place of the whole page, after an error outside of its views. */
function Stopped() {
  return (
    <Empty title="This page has stopped" actions={<Button onClick={() => location.reload()}>Reload the page</Button>}>
      It has failed with an error of its own. The agent is not affected.
    </Empty>
  );
}
