import type { SettingChange, Settings } from '@lockstep/shared/api';
import { HttpError } from '../../errors.ts';
import type { ServedSettings } from '../../served-member.ts';

/**
 * Changes one setting in the version of `config.toml` that is named, and returns all. Throws `version-mismatch` if another version is
 * there, and a LockstepError if the change is not possible or not allowed.
 */
export async function changeSetting(
  settings: ServedSettings,
  change: SettingChange,
  version: string,
): Promise<Settings> {
  const outcome = await settings.change(change, version);
  if (outcome.is === 'changed') return settings.read();
  throw new HttpError(412, {
    code: 'version-mismatch',
    message:
      'config.toml was changed since it was shown. Nothing was written: look at what is there now, and change it again.',
    version: outcome.version,
  });
}
