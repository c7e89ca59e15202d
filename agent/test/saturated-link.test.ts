import { saturatedLink } from '../../testkit/scenes/saturated-link.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';

sceneTest('[MB21]', saturatedLink);
