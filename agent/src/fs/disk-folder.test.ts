import { openDiskSubject } from './disk-subject.contract.ts';
import { folderContract } from './folder.contract.ts';

folderContract(() => openDiskSubject());
