import MotionKitLinux
import SensorFusion

print("motionlog")
