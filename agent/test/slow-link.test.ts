import { slowLink } from '../../testkit/scenes/slow-link.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';

sceneTest('[MB1]', slowLink);
