import SensorFusion
extension SensorKind { var name: String { "\(self)" } }
