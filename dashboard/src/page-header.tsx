import { ActionIcon, Group, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';

/** The name of the page, and the switch between light and dark. */
export function PageHeader() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <Group component="header" justify="space-between" py="md">
      <Group gap="sm">
        <img src="/favicon.svg" alt="" width={28} height={28} />
        <Text fw={700} size="lg">
          Lockstep
        </Text>
      </Group>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={`Switch to the ${other} colours`}
        title={`Switch to the ${other} colours`}
        onClick={() => setColorScheme(other)}
      >
        {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Group>
  );
}

const iconProps = {
  width: 18,
  height: 18,
  viewBox: '0 0 24 24',
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 2,
  strokeLinecap: 'round',
} as const;

function SunIcon() {
  return (
    <svg aria-hidden="true" {...iconProps}>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 3v1m0 16v1M3 12h1m16 0h1M5.6 5.6l.7.7m11.4 11.4.7.7M5.6 18.4l.7-.7M17.7 6.3l.7-.7" />
    </svg>
  );
}

function MoonIcon() {
  return (
    <svg aria-hidden="true" {...iconProps} strokeLinejoin="round">
      <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z" />
    </svg>
  );
}
