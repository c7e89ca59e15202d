import { churn } from '../../testkit/scenes/churn.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';

sceneTest('[MG3]', churn);
