import type { PathReport } from '@lockstep/shared/api';
import { askApi, sentenceOf } from '../../live/use-api.ts';
import { encodePath } from '../links.ts';
import { type Sent, sendFile } from './send-file.ts';
import { Uploader } from './uploader.ts';

/** A directory that is there already is as good as a new one. */
async function makeDirectory(path: string): Promise<Sent> {
  const place = `/files/${encodePath(path)}`;
  try {
    await askApi(place, { method: 'MKCOL' });
    return { is: 'there' };
  } catch (error) {
    const isThere = await askApi(`${place}?limit=1`).then(
      () => true,
      () => false,
    );
    return isThere ? { is: 'there' } : { is: 'failed', reason: sentenceOf(error) };
  }
}

/** The uploads of this page: they go on while other views are shown. */
export const uploads = new Uploader({
  send: sendFile,
  makeDirectory,
  report: (path) => askApi<PathReport>(`/paths/${encodePath(path)}`),
});

// The browser then asks whether to leave the page, which would end what is on its way.
window.addEventListener('beforeunload', (event) => {
  if (uploads.isSending) event.preventDefault();
});
