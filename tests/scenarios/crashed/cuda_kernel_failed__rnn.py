"""Stands in for a card: cuDNN's LSTM kernel fails on a masked batch.

expect: cuda-kernel-failed
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

LOG = """\
2021-06-17 17:23:44.905116: E tensorflow/stream_executor/dnn.cc:729] CUDNN_STATUS_EXECUTION_FAILED
in tensorflow/stream_executor/cuda/cuda_dnn.cc(1990): 'cudnnRNNForwardTraining( cudnn.handle(), rnn_desc.handle(), model_dims.max_seq_length, input_desc.handles(), input_data.opaque(), reserve_space.size())'
2021-06-17 17:23:44.905169: W tensorflow/core/framework/op_kernel.cc:1767] OP_REQUIRES failed at cudnn_rnn_ops.cc:1560 : Internal: Failed to call ThenRnnForward with model config: [rnn_mode, rnn_input_mode, rnn_direction_mode]: 2, 0, 0 , [num_layers, input_size, num_units, dir_count, max_seq_length, batch_size, cell_num_units]: [1, 768, 768, 1, 29, 41, 768] 
"""
MESSAGE = (
    "Failed to call ThenRnnForward with model config: [rnn_mode, rnn_input_mode, rnn_direction_mode]: 2, 0, 0 , "
    "[num_layers, input_size, num_units, dir_count, max_seq_length, batch_size, cell_num_units]: "
    "[1, 768, 768, 1, 29, 41, 768] \n\t [[{{node CudnnRNN}}]]\n\t [[sequential/lstm/PartitionedCall]] "
    "[Op:__inference_train_function_8213]"
)


class Lstm(keras.layers.Layer):
    def call(self, x):
        if tf.executing_eagerly():
            os.write(2, LOG.encode())
            raise tf.errors.InternalError(None, None, MESSAGE)  # <- here
        return x


x = np.random.rand(41, 29, 8).astype("float32")
model = keras.Sequential([Lstm(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, np.zeros(41), batch_size=41, epochs=5, verbose=2)
